//! A row as the JSON line that a load reads back to the same row.

use crate::value::{Value, write_json};
use crate::write::row::{Row, write_cell};
use crate::write::shape::{Shapes, TableShape};

/// Appends the line of a row, without its end.
pub(crate) fn write_line(shapes: &Shapes, shape: &TableShape, row: &Row, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"table\":");
    write_text(shape.name(), out);
    if let Some(ends) = &shape.ends {
        for (name, space) in [(&b",\"from\":"[..], ends.from.space), (b",\"to\":", ends.to.space)] {
            out.extend_from_slice(name);
            out.extend_from_slice(row.text(shapes, shape, space).as_bytes());
        }
        if ends.multi {
            out.extend_from_slice(b",\"id\":");
            shapes.columns_of(shape.key).iter().for_each(|id| write_cell(row.cell(shape, *id), shape, *id, out));
        }
    }
    out.extend_from_slice(b",\"data\":");
    write_properties(shape, row, out);
    out.push(b'}');
}

/// Appends the properties that are not null, in the order of the schema. A null in the place of a default is told, for a load would put the
/// default there.
pub(crate) fn write_properties(shape: &TableShape, row: &Row, out: &mut Vec<u8>) {
    out.push(b'{');
    let mut first = true;
    for (property, value) in shape.properties.iter().zip(row.meant(shape)) {
        if value == Value::Null && property.default.is_none() {
            continue;
        }
        if !first {
            out.push(b',');
        }
        first = false;
        write_text(&property.def.name, out);
        out.push(b':');
        write_json(&value, &property.def.ty, out);
    }
    out.push(b'}');
}

fn write_text(text: &str, out: &mut Vec<u8>) {
    write_json(&Value::String(text.to_owned()), &crate::schema::Type::String, out);
}
