// Streams documents in Chromium, driven by playwright-core on Node: `stream-browser.mjs EXECUTABLE URL CALL…`.
// Each CALL is an expression that measures in the page. Prints a line of JSON for each: its result, and
// `taskProcessorMs`, the CPU time of each task on the main thread of the page.
import { chromium } from 'playwright-core'

const [executablePath, url, ...calls] = process.argv.slice(2)
const browser = await chromium.launch({
  executablePath,
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-background-networking',
    '--disable-dev-shm-usage',
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
  ],
})

/** Tasks of the main thread of the page, in the order they ran. Durations of the trace are in microseconds. */
function tasksOf(events) {
  const threads = events
    .filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain')
    .map(({ pid, tid }) =>
      events.filter(
        (event) => event.pid === pid && event.tid === tid && event.name.endsWith('RunTask') && event.ph === 'X',
      ),
    )
  const busiest = threads.toSorted((one, other) => other.length - one.length)[0] ?? []
  return busiest.toSorted((one, other) => one.ts - other.ts).map(({ tdur = 0 }) => tdur / 1_000)
}

for (const call of calls) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } }),
    page = await context.newPage()
  await page.goto(url)
  const session = await context.newCDPSession(page),
    events = []
  session.on('Tracing.dataCollected', ({ value }) => events.push(...value))
  await session.send('Tracing.start', { traceConfig: { includedCategories: ['toplevel'] } })
  const told = await page.evaluate(call)
  const isTraced = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve))
  await session.send('Tracing.end')
  await isTraced
  console.log(JSON.stringify({ ...told, taskProcessorMs: tasksOf(events) }))
  await context.close()
}
await browser.close()
