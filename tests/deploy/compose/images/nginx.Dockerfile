# Stands for nginx:1.28 where no registry can be reached.
FROM bare
RUN rm /etc/nginx/sites-enabled/default && ln -sf /dev/stderr /var/log/nginx/error.log
STOPSIGNAL SIGQUIT
CMD ["nginx", "-g", "daemon off;"]
