# Stands for redis:8 where no registry can be reached.
FROM bare
USER redis
CMD ["redis-server", "--protected-mode", "no", "--dir", "/tmp"]
