// The packages that a Rust workspace is built from, as `cargo metadata` tells them.
CREATE NODE TABLE Package (
  id STRING PRIMARY KEY,            // name and version
  name STRING NOT NULL,
  version STRING NOT NULL,
  about STRING,
  edition STRING,
  local BOOL NOT NULL DEFAULT false // a member of the workspace itself
);
CREATE NODE TABLE Licence (
  expression STRING PRIMARY KEY,
  verdict ENUM('unknown', 'accepted', 'refused') NOT NULL DEFAULT 'unknown',
  remark STRING
);
CREATE NODE TABLE Feature (package STRING, name STRING, PRIMARY KEY (package, name));

CREATE REL TABLE DependsOn (
  FROM Package TO Package,
  kind ENUM('normal', 'build', 'dev') KEY,
  platform STRING                   // only there, if not everywhere
);
CREATE REL TABLE LicensedUnder (FROM Package TO Licence, MANY_ONE);
CREATE REL TABLE Offers (FROM Package TO Feature, enabled BOOL NOT NULL, ONE_MANY);
