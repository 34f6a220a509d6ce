CREATE NODE TABLE Airport (
  code STRING PRIMARY KEY,
  name STRING NOT NULL,
  city STRING,
  runways INT16 CHECK (runways > 0)
);
CREATE REL TABLE Route (
  FROM Airport TO Airport,
  minutes INT32 NOT NULL,
  seasonal BOOL
);
