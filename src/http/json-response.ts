/** JSON as a response. */
export function jsonResponse(value: unknown, id: string, status = 200): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', 'x-request-id': id },
  })
}
