// Chromium, driven by playwright-core, which runs on Node: `chromium.mjs EXECUTABLE`. Takes lines {"id","person","tab","method","args"} that name a method of a page,
// such as `goto` or `keyboard.press`, and answers each with {"id","value"} or {"id","error"}. Each person has cookies of their own, which their tabs share.
import { createInterface } from 'node:readline'
import { chromium } from 'playwright-core'

const browser = await chromium.launch({
  executablePath: process.argv[2],
  // Nothing but this machine is asked, by pages or by the browser itself.
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-dev-shm-usage', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost'],
})
const people = new Map()

async function contextOf(person) {
  if (!people.has(person)) {
    const context = await browser.newContext({ ignoreHTTPSErrors: true })
    context.setDefaultTimeout(10_000)
    people.set(person, { context, tabs: new Map() })
  }
  return people.get(person)
}

async function run({ person, tab, method, args }) {
  const { context, tabs } = await contextOf(person)
  if (method === 'cookies') return context.cookies()
  if (!tabs.has(tab)) tabs.set(tab, await context.newPage())
  const names = method.split('.'), last = names.pop()
  const owner = names.reduce((value, name) => value[name], tabs.get(tab))
  const value = await owner[last](...args)
  return typeof value?.status === 'function' ? value.status() : value
}

console.log(JSON.stringify({ id: 0, value: browser.version() }))
for await (const line of createInterface({ input: process.stdin })) {
  const call = JSON.parse(line)
  try {
    console.log(JSON.stringify({ id: call.id, value: await run(call) }))
  } catch (error) {
    console.log(JSON.stringify({ id: call.id, error: String(error) }))
  }
}
await browser.close()
