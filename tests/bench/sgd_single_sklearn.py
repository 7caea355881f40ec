# SPDX-License-Identifier: MIT
"""A yardstick of sgd_single_rate.sh: scikit-learn's SGDClassifier on the same records, parsed beforehand, by partial_fit.
Each call passes over all weights, so the number of records in a call matters: one call for all, or 10,000 at a time.
Usage: sgd_single_sklearn.py FILE FEATURES. Prints examples per second of CPU time for either."""
import sys
import time

from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import SGDClassifier

path, features = sys.argv[1], int(sys.argv[2])
data, labels = load_svmlight_file(path, n_features=features, dtype="float32")
model = SGDClassifier(loss="log_loss", penalty=None, learning_rate="constant", eta0=0.01, shuffle=False)
model.partial_fit(data[:1000], labels[:1000], classes=[0, 1])
rates = []
for rows in (data.shape[0], 10000):
    cpu = time.process_time()
    for begin in range(0, data.shape[0], rows):
        model.partial_fit(data[begin:begin + rows], labels[begin:begin + rows])
    rates.append(data.shape[0] / (time.process_time() - cpu))
print(*rates)
