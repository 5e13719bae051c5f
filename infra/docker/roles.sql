-- The users of the services on one machine, when the database is created; `migrate` gives them their rights. Elsewhere
-- they have real passwords: docs/operations/databases.md.
CREATE ROLE pf_gateway LOGIN PASSWORD 'local';
CREATE ROLE pf_intent LOGIN PASSWORD 'local';
CREATE ROLE pf_watcher LOGIN PASSWORD 'local';
CREATE ROLE pf_webhook LOGIN PASSWORD 'local';
CREATE ROLE pf_dashboard LOGIN PASSWORD 'local';
CREATE ROLE pf_checkout LOGIN PASSWORD 'local';
CREATE ROLE pf_archive LOGIN PASSWORD 'local';
CREATE ROLE pf_operator LOGIN PASSWORD 'local';
CREATE ROLE pf_monitor LOGIN PASSWORD 'local';
