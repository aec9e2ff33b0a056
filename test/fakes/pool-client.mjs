import { Agent, request } from 'node:http'

// Client with a pool of kept-alive connections, on Node: `node pool-client.mjs URL lifo|fifo`. It sends requests
// evenly, and sometimes many at once, so that some connections are idle for long. It never retries. When its
// standard input ends, it prints `{ right, reused, reset, failures }`; `reset` counts new connections that were reset.

const [url, scheduling] = process.argv.slice(2)
const agent = new Agent({ keepAlive: true, scheduling })
const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] })
const found = { right: 0, reused: 0, reset: 0, failures: [] }
const underWay = new Set()

function ask() {
  return new Promise((resolve, reject) => {
    const asked = request(
      `${url}/v1/chat/completions`,
      { method: 'POST', agent, headers: { 'content-type': 'application/json' } },
      (response) => {
        let text = ''
        response
          .setEncoding('utf8')
          .on('data', (piece) => {
            text += piece
          })
          .on('error', reject)
        response.on('end', () =>
          response.statusCode === 200 && text.includes('good-2')
            ? resolve(asked.reusedSocket)
            : reject(new Error(`${response.statusCode} ${text}`)),
        )
      },
    )
    asked
      .on('error', (error) => {
        if (error.code === 'ECONNRESET' && !asked.reusedSocket) resolve(undefined)
        else reject(error)
      })
      .end(body)
  })
}

function begin() {
  const one = ask()
    .then(
      (isReused) => {
        if (isReused === undefined) found.reset++
        else found.right++
        if (isReused) found.reused++
      },
      (error) => found.failures.push(String(error)),
    )
    .finally(() => underWay.delete(one))
  underWay.add(one)
}

const evenly = setInterval(begin, 10)
const manyAtOnce = setInterval(() => {
  for (let count = 0; count < 20; count++) begin()
}, 700)
process.stdin.resume().on('end', async () => {
  clearInterval(evenly)
  clearInterval(manyAtOnce)
  await Promise.all(underWay)
  console.log(JSON.stringify(found))
  process.exit()
})
