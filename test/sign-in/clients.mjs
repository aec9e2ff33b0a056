// Signs in with each of Node's HTTP clients, without cookies: node clients.mjs URL. Prints a line of JSON for each: {"client":"fetch","answers":[{"status":302,"location":"…"},…]}.
import { request } from 'node:http'
import axios from 'axios'
import { fetch as undiciFetch, request as undiciRequest } from 'undici'

const fetched = (get) => async (url) => {
  const response = await get(url, { redirect: 'manual' })
  return { status: response.status, location: response.headers.get('location') }
}

const withAxios = (adapter) => async (url) => {
  const { status, headers } = await axios.get(url, { adapter, maxRedirects: 0, validateStatus: () => true })
  return { status, location: headers.location ?? null }
}

const clients = {
  fetch: fetched(fetch),
  'undici.fetch': fetched(undiciFetch),
  'undici.request': async (url) => {
    const { statusCode, headers, body } = await undiciRequest(url)
    await body.dump()
    return { status: statusCode, location: headers.location ?? null }
  },
  'axios (fetch)': withAxios('fetch'),
  'axios (http)': withAxios('http'),
  'node:http': (url) =>
    new Promise((resolve, reject) => {
      request(url, (response) =>
        resolve({ status: response.statusCode, location: response.resume().headers.location ?? null }),
      )
        .on('error', reject)
        .end()
    }),
}

for (const [client, get] of Object.entries(clients)) {
  const answers = []
  for (let next = process.argv[2]; next !== null && answers.length < 3; next = answers.at(-1).location)
    answers.push(await get(next))
  console.log(JSON.stringify({ client, answers }))
}
