# Stands for python:3.11-slim-bookworm where no registry can be reached: Debian's Python, and wheels in place of PyPI.
FROM bare
RUN ln -s /usr/bin/python3 /usr/local/bin/python && rm /usr/lib/python3.11/EXTERNALLY-MANAGED
COPY wheels /wheels
ENV PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin PIP_NO_INDEX=1 PIP_FIND_LINKS=/wheels LANG=C.UTF-8
