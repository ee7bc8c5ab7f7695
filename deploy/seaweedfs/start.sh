#!/bin/sh
# Starts SeaweedFS with one identity for Parley, and creates its bucket. The key comes from the environment.
set -eu
cat > /tmp/s3.json <<EOF
{
  "identities": [
    {
      "name": "parley",
      "credentials": [{ "accessKey": "parley", "secretKey": "$BLOB_SECRET_KEY" }],
      "actions": ["Read:parley", "Write:parley", "List:parley", "Tagging:parley"]
    }
  ]
}
EOF
(
  until echo 's3.bucket.list' | weed shell -master=127.0.0.1:9333 > /tmp/buckets 2> /dev/null; do sleep 1; done
  grep -qw parley /tmp/buckets || echo 's3.bucket.create -name parley' | weed shell -master=127.0.0.1:9333
  touch /tmp/bucket-exists
) &
exec weed server -dir=/data -ip=127.0.0.1 -ip.bind=127.0.0.1 -s3 -s3.port=8333 -s3.config=/tmp/s3.json
