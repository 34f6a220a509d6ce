//! Rows of a result in the forms that people and programs ask for.

use std::io::{self, BufWriter, Write};

use pleach::CypherValue;
use pleach::schema::Problem;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::commands::statement::Format;
use crate::output;

/// Writes rows to standard output as they come; a table and one JSON object wait for the last.
pub(crate) struct Writer {
    names: Vec<String>,
    warnings: Vec<Problem>,
    form: Form,
}

enum Form {
    Table(Vec<Vec<String>>),
    Json(Vec<Vec<Box<RawValue>>>),
    Jsonl(BufWriter<io::Stdout>),
    Csv { out: Box<csv::Writer<io::Stdout>>, null: String },
}

impl Writer {
    pub(crate) fn new(format: Format, names: Vec<String>, null: &str) -> io::Result<Self> {
        let form = match format {
            Format::Table => Form::Table(Vec::new()),
            Format::Json => Form::Json(Vec::new()),
            Format::Jsonl => Form::Jsonl(BufWriter::new(io::stdout())),
            Format::Csv => {
                let mut out = csv::Writer::from_writer(io::stdout());
                out.write_record(&names).map_err(io::Error::from)?;
                Form::Csv { out: Box::new(out), null: null.to_owned() }
            }
        };
        Ok(Self { names, warnings: Vec::new(), form })
    }

    /// Says `warnings` beside the rows, or within the one JSON object.
    pub(crate) fn warn(&mut self, warnings: &[Problem]) {
        if matches!(self.form, Form::Json(_)) {
            self.warnings.extend_from_slice(warnings);
        } else {
            note_all(warnings);
        }
    }

    pub(crate) fn push(&mut self, rows: &[Vec<CypherValue>]) -> io::Result<()> {
        match &mut self.form {
            Form::Table(all) => {
                all.extend(rows.iter().map(|row| row.iter().map(|value| cell(value, "null")).collect()));
            }
            Form::Json(all) => all.extend(json_rows(rows)?),
            Form::Jsonl(out) => {
                for row in rows {
                    write_object(out, &self.names, row)?;
                }
                out.flush()?;
            }
            Form::Csv { out, null } => {
                for row in rows {
                    out.write_record(row.iter().map(|value| cell(value, null))).map_err(io::Error::from)?;
                }
                out.flush()?;
            }
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> io::Result<()> {
        match self.form {
            Form::Table(rows) => output::text(&output::any_table(&self.names, rows)),
            Form::Json(rows) => {
                let warnings = self.warnings.iter().map(Warning::from).collect();
                output::json(&Answer { columns: &self.names, rows, warnings })
            }
            Form::Jsonl(mut out) => out.flush(),
            Form::Csv { mut out, .. } => out.flush(),
        }
    }
}

/// Says warnings on standard error.
pub(crate) fn note_all(warnings: &[Problem]) {
    for warning in warnings {
        output::note(&format!("warning: {warning}"));
    }
}

/// Rows as one JSON object. Values stay as they are spelled, the order of their fields included.
#[derive(Debug, Serialize)]
pub(crate) struct Answer<'a> {
    columns: &'a [String],
    rows: Vec<Vec<Box<RawValue>>>,
    warnings: Vec<Warning<'a>>,
}

/// What is to be said of a statement that ran.
#[derive(Debug, Serialize)]
struct Warning<'a> {
    line: usize,
    column: usize,
    message: &'a str,
    help: Option<&'a str>,
}

impl<'a> From<&'a Problem> for Warning<'a> {
    fn from(problem: &'a Problem) -> Self {
        let Problem { line, column, message, help, .. } = problem;
        Self { line: *line, column: *column, message, help: help.as_deref() }
    }
}

impl<'a> Answer<'a> {
    pub(crate) fn new(columns: &'a [String], rows: &[Vec<CypherValue>], warnings: &'a [Problem]) -> io::Result<Self> {
        Ok(Self { columns, rows: json_rows(rows)?, warnings: warnings.iter().map(Warning::from).collect() })
    }
}

fn json_rows(rows: &[Vec<CypherValue>]) -> io::Result<Vec<Vec<Box<RawValue>>>> {
    let row = |row: &Vec<CypherValue>| row.iter().map(|value| RawValue::from_string(value.to_json())).collect();
    Ok(rows.iter().map(row).collect::<Result<_, _>>()?)
}

/// One row as an object, its columns in order.
fn write_object(out: &mut impl Write, names: &[String], row: &[CypherValue]) -> io::Result<()> {
    out.write_all(b"{")?;
    for (i, (name, value)) in names.iter().zip(row).enumerate() {
        if i > 0 {
            out.write_all(b",")?;
        }
        serde_json::to_writer(&mut *out, name)?;
        out.write_all(b":")?;
        out.write_all(value.to_json().as_bytes())?;
    }
    out.write_all(b"}\n")
}

/// A value as plain text: what JSON would quote stands without quotes, lists, maps, nodes and edges are JSON.
fn cell(value: &CypherValue, null: &str) -> String {
    if value.is_null() {
        return null.to_owned();
    }
    let text = value.to_json();
    if text.starts_with('"') {
        // What was just written can be read.
        if let Ok(Value::String(plain)) = serde_json::from_str(&text) {
            return plain;
        }
    }
    text
}
