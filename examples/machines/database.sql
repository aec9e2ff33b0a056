-- Once, as the owner of the server: psql -f database.sql. svc makes its schema `svc` itself.
CREATE ROLE svc LOGIN PASSWORD 'YOUR-PASSWORD';
CREATE DATABASE svc OWNER svc;
