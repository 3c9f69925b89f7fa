# For the scripts that try a deployment: sends a photo, waits until it is ready, and loads its picture.
#   show_photo KEY SEND-URL READ-URL CURL-OPTION… prints the status and the type of the picture
show_photo() {
  local key=$1 to=$2 from=$3 pet path
  shift 3
  call() { curl --silent --max-time 20 -H "Authorization: Bearer $key" "${options[@]}" "$@"; }
  local options=("$@")
  pet=$(call "$to/v1/pets" -H 'Content-Type: application/json' --data '{"name":"Biscuit","categoryId":1}' | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  call --output /dev/null "$to/v1/pets/$pet/photos" -H 'Content-Type: image/jpeg' --data-binary "@$PHOTO"
  for _ in $(seq 60); do
    path=$(call "$from/v1/pets/$pet/photos" | sed -n 's/.*"url":"\([^"]*\)".*/\1/p')
    [ -n "$path" ] && break
    sleep 0.5
  done
  curl --silent --max-time 20 "${options[@]}" --output /dev/null --write-out '%{http_code} %{content_type}' "$from$path" || true
}
