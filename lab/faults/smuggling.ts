import { question } from '../../test/client.ts'

const inner = JSON.stringify(question({ model: 'well', messages: [{ role: 'user', content: 'smuggled' }] }))
const start = 'POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\n'
const hidden = `${start}content-length: ${inner.length}\r\n\r\n${inner}`
const chunks = `0\r\n\r\n${hidden}`
const body = JSON.stringify(question({ model: 'well' }))

/** Requests that two servers may read differently. Each must be refused, and none may reach a provider. */
export const smuggling: readonly (readonly [what: string, bytes: string])[] = [
  ['a length and chunks', `${start}content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n${chunks}`],
  ['chunks and a length', `${start}transfer-encoding: chunked\r\ncontent-length: 4\r\n\r\n${chunks}`],
  ['two lengths', `${start}content-length: ${body.length}\r\ncontent-length: 3\r\n\r\n${body}`],
  ['two lengths in one', `${start}content-length: ${body.length}, 3\r\n\r\n${body}`],
  ['a length with a sign', `${start}content-length: +${body.length}\r\n\r\n${body}`],
  ['a negative length', `${start}content-length: -1\r\n\r\n${body}`],
  ['a length in hexadecimal', `${start}content-length: 0x${body.length.toString(16)}\r\n\r\n${body}`],
  ['a length that is no number', `${start}content-length: many\r\n\r\n${body}`],
  ['an empty length', `${start}content-length:\r\n\r\n${body}`],
  ['a length beyond all numbers', `${start}content-length: 99999999999999999999999\r\n\r\n${body}`],
  ['an unknown coding', `${start}transfer-encoding: gzip\r\n\r\n${body}`],
  ['a coding after chunked', `${start}transfer-encoding: chunked, identity\r\n\r\n${chunks}`],
  ['chunked in quotes', `${start}transfer-encoding: "chunked"\r\n\r\n${chunks}`],
  ['chunked with a vertical tab', `${start}transfer-encoding: \x0bchunked\r\n\r\n${chunks}`],
  ['two codings', `${start}transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n\r\n${chunks}`],
  ['a space before the colon', `${start}transfer-encoding : chunked\r\n\r\n${chunks}`],
  ['a folded header', `${start}transfer-encoding:\r\n chunked\r\n\r\n${chunks}`],
  ['a bare carriage return', `${start}x-a: b\rtransfer-encoding: chunked\r\n\r\n${chunks}`],
  ['a NUL in a header', `${start}x-a: b\0c\r\ncontent-length: ${body.length}\r\n\r\n${body}`],
  ['a chunk size that is no number', `${start}transfer-encoding: chunked\r\n\r\nzz\r\n${hidden}`],
  ['a chunk size with a sign', `${start}transfer-encoding: chunked\r\n\r\n-1\r\n${hidden}`],
  ['a chunk size of 17 digits', `${start}transfer-encoding: chunked\r\n\r\n10000000000000000\r\n${hidden}`],
  ['a chunk longer than announced', `${start}transfer-encoding: chunked\r\n\r\n1\r\nab\r\n${chunks}`],
  [
    'two Hosts',
    `POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\nhost: y\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  ],
  ['no Host', `POST /v1/chat/completions HTTP/1.1\r\ncontent-length: ${body.length}\r\n\r\n${body}`],
  [
    'a space in the target',
    `POST /v1/chat/completions HTTP/1.1 HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  ],
  ['HTTP/0.9', 'GET /v1/models\r\n\r\n'],
  [
    'a version that does not exist',
    `POST /v1/chat/completions HTTP/1.9\r\nhost: 127.0.0.1\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  ],
  ['a body on GET', `GET /v1/models HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: ${hidden.length}\r\n\r\n${hidden}`],
  ['TRACE', 'TRACE /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n'],
  ['CONNECT', 'CONNECT evil.example:443 HTTP/1.1\r\nhost: evil.example:443\r\n\r\n'],
  ['line feeds alone', hidden.replaceAll('\r\n', '\n')],
]
