#!/bin/sh
# Makes the cluster at the first start, with a server that only listens on its socket, as the image that this stands for does.
set -eu
if [ "$(id -u)" = 0 ]; then
    chown postgres "$PGDATA"
    exec setpriv --reuid=postgres --regid=postgres --init-groups "$0" "$@"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    printf %s "$POSTGRES_PASSWORD" > /tmp/password
    initdb --encoding=UTF8 --locale=C.UTF-8 --username="$POSTGRES_USER" --pwfile=/tmp/password --auth-local=trust --auth-host=scram-sha-256
    rm /tmp/password
    echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
    pg_ctl -D "$PGDATA" -o "-c listen_addresses=''" -w start
    createdb --username="$POSTGRES_USER" "$POSTGRES_DB"
    sleep "${FIRST_START_SECONDS:-5}"  # scripts of /docker-entrypoint-initdb.d would run now
    pg_ctl -D "$PGDATA" -m fast -w stop
fi
exec "$@"
