// Chromium, driven by playwright-core, which runs on Node: `chromium.mjs EXECUTABLE`. Takes lines {"id","person","tab","method","args"} that name a method of a page,
// such as `goto` or `keyboard.press`, and answers each with {"id","value"} or {"id","error"}. Each person has cookies of their own, which their tabs share.
// `begin` says what their browser is like, before anything else; `complaints` gives what the console of a tab was told of as an error.
import { createInterface } from 'node:readline'
import { chromium } from 'playwright-core'

const browser = await chromium.launch({
  executablePath: process.argv[2],
  // Nothing but this machine is asked, by pages or by the browser itself.
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-dev-shm-usage', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost'],
})
const people = new Map()

async function contextOf(person, options = {}) {
  if (!people.has(person)) {
    const context = await browser.newContext({ ignoreHTTPSErrors: true, ...options })
    context.setDefaultTimeout(10_000)
    people.set(person, { context, tabs: new Map(), complaints: new Map() })
  }
  return people.get(person)
}

async function openTab({ context, tabs, complaints }, tab) {
  const page = await context.newPage()
  const told = []
  page.on('console', (message) => { if (message.type() === 'error') told.push(message.text()) })
  page.on('pageerror', (error) => told.push(String(error)))
  tabs.set(tab, page)
  complaints.set(tab, told)
}

async function run({ person, tab, method, args }) {
  const known = await contextOf(person, method === 'begin' ? args[0] : {})
  const { context, tabs, complaints } = known
  if (method === 'begin') return undefined
  if (method === 'cookies') return context.cookies()
  if (method === 'setOffline') return context.setOffline(...args)
  if (!tabs.has(tab)) await openTab(known, tab)
  if (method === 'complaints') return complaints.get(tab)
  const names = method.split('.'), last = names.pop()
  const owner = names.reduce((value, name) => value[name], tabs.get(tab))
  const value = await owner[last](...args)
  if (Buffer.isBuffer(value)) return undefined
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
