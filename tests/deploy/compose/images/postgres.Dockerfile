# Stands for postgres:17 where no registry can be reached: Debian's PostgreSQL, with the variables and the first start of that image.
FROM bare
ENV PATH=/usr/lib/postgresql/15/bin:/usr/sbin:/usr/bin:/sbin:/bin PGDATA=/var/lib/postgresql/data
COPY postgres.sh /usr/local/bin/docker-entrypoint.sh
RUN install -d -o postgres -g postgres -m 700 "$PGDATA" && install -d -o postgres -g postgres /var/run/postgresql
VOLUME /var/lib/postgresql/data
STOPSIGNAL SIGINT
ENTRYPOINT ["/usr/local/bin/docker-entrypoint.sh"]
CMD ["postgres", "-c", "listen_addresses=*"]
