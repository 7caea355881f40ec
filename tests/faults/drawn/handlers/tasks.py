# SPDX-License-Identifier: MIT
"""For Celery. BROKER: address of RabbitMQ."""
import os

import celery
import common

app = celery.Celery("tasks", broker=os.environ["BROKER"], backend="rpc://")
app.conf.update(task_ignore_result=False, worker_prefetch_multiplier=1, worker_hijack_root_logger=False)


@app.task
def work(key, text):
    common.handle()
    return key
