// Chromium, driven by playwright-core on Node: `chromium.mjs EXECUTABLE`. Takes lines {"id","person","tab","method",
// "args"} that name a method of a page, such as `goto` or `keyboard.press`, and answers each with {"id","value"} or
// {"id","error"}. Tabs of one person share cookies. Further methods: `begin` sets the options of a person's browser,
// `leave` closes all tabs, `complaints` returns errors of a tab's console and unexpected dialogs, and `asked` returns
// every requested address of all tabs and windows.
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { chromium } from 'playwright-core'

const browser = await chromium.launch({
  executablePath: process.argv[2],
  // Pages and the browser itself can reach only this machine. One website has a name here.
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-background-networking',
    '--disable-dev-shm-usage',
    // Chromium loads nothing from these ports unless they are allowed. A test may get any of them.
    '--explicitly-allowed-ports=1719,1720,1723,2049,3659,4045,4190,5060,5061,6000,6566,6665,6666,6667,6668,6669,6679,6697,10080',
    '--host-resolver-rules=MAP website.example 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
  ],
})
browser.on('disconnected', () => process.exit())
const people = new Map()
/** Emptied contexts with one tab each, by their options; the last ones. */
const free = new Map()
const freeMax = 2
/** Methods with effects that emptying does not undo. */
const lasting = new Set(['setOffline', 'refuse', 'hold', 'answer', 'setSpeed', 'setViewportSize', 'emulateMedia'])

async function contextOf(person, options = {}) {
  if (!people.has(person)) {
    const form = JSON.stringify(options)
    const known = free.get(form) ?? (await newContext(form, options))
    free.delete(form)
    people.set(person, known)
  }
  return people.get(person)
}

async function newContext(form, options) {
  const context = await browser.newContext({ ignoreHTTPSErrors: true, ...options })
  context.setDefaultTimeout(18_000)
  const asked = []
  context.on('request', (request) => asked.push(request.url()))
  return { context, form, asked, tabs: new Map(), complaints: new Map(), isChanged: false }
}

async function openTab(known, tab) {
  const { context, tabs, complaints, spare } = known
  if (spare !== undefined) {
    tabs.set(tab, spare.page)
    complaints.set(tab, spare.told)
    known.spare = undefined
    return
  }
  const page = await context.newPage()
  const told = []
  page.on('console', (message) => {
    if (message.type() === 'error') told.push(message.text())
  })
  page.on('pageerror', (error) => told.push(String(error)))
  page.on('dialog', (dialog) => {
    if (dialog.type() === 'beforeunload') return void dialog.accept()
    told.push(`a dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  tabs.set(tab, page)
  complaints.set(tab, told)
}

async function setSpeed(context, page, { latencyMs, bytesPerSecond }) {
  const session = await context.newCDPSession(page)
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: latencyMs,
    downloadThroughput: bytesPerSecond,
    uploadThroughput: bytesPerSecond,
  })
}

/** Drops files as from the desktop: the browser opens them where the page does not handle the event. */
async function dropFiles(context, page, [selector, files]) {
  const { x, y, width, height } = await page.locator(selector).first().boundingBox()
  const session = await context.newCDPSession(page)
  for (const type of ['dragEnter', 'dragOver', 'drop']) {
    await session.send('Input.dispatchDragEvent', {
      type,
      x: x + width / 2,
      y: y + height / 2,
      data: { items: [], files, dragOperationsMask: 1 },
    })
  }
  await session.detach()
}

/** Drags an element with the mouse to the lower part of another one. */
async function drag(page, [from, to]) {
  const middle = async (selector, part) => {
    const { x, y, width, height } = await page.locator(selector).first().boundingBox()
    return [x + width / 2, y + height * part]
  }
  const target = await middle(to, 0.75)
  await page.mouse.move(...(await middle(from, 0.5)))
  await page.mouse.down()
  await page.mouse.move(...target, { steps: 4 })
  await page.mouse.up()
}

async function download(page, selector) {
  const [saved] = await Promise.all([page.waitForEvent('download'), page.click(selector)])
  return { name: saved.suggestedFilename(), text: await readFile(await saved.path(), 'utf8') }
}

/** Closes all tabs, apart from emptied ones: open ones would slow down the next test. */
async function leave() {
  const all = [...people.values()]
  people.clear()
  await Promise.all(all.map(empty))
  for (const [form, { context }] of [...free].slice(0, -freeMax)) {
    free.delete(form)
    await context.close()
  }
}

/**
 * Empties a context and keeps one tab of it for the next test, which saves the start of a process; closes a context
 * that it cannot empty.
 */
async function empty(known) {
  const { context, form, asked, tabs, complaints, isChanged } = known
  const [[name, page] = []] = tabs
  const origin = /^http:\/\/127\.0\.0\.1:\d+\//.exec(page?.url())?.[0]
  // The tab has storage of its own for each website, and only that of the last one can be emptied.
  const isKnown = origin !== undefined && asked.every((url) => !url.startsWith('http') || url.startsWith(origin))
  const isEmptied = !isChanged && isKnown && (await clear(context, page, origin).catch(() => false))
  if (!isEmptied || free.has(form)) return context.close()
  const told = complaints.get(name)
  asked.length = told.length = 0
  tabs.clear()
  complaints.clear()
  free.set(form, { ...known, spare: { page, told } })
}

/** Removes all that a tab and its website have stored: cookies, databases, caches, service workers, its history. */
async function clear(context, page, origin) {
  await Promise.all(context.pages().map((other) => (other === page ? undefined : other.close())))
  const session = await context.newCDPSession(page)
  const forget = (storageTypes) => session.send('Storage.clearDataForOrigin', { origin, storageTypes })
  await forget('service_workers')
  // Of the same origin, so that it has the same process and the same storage, but without the page.
  await page.route('**', (route) => route.fulfill({ contentType: 'text/html', body: '' }))
  await page.goto(`${origin}empty`)
  await page.unroute('**')
  await page.evaluate('sessionStorage.clear(); window.name = ""')
  await forget('all')
  await context.clearCookies()
  await session.send('Network.clearBrowserCache')
  await session.send('Page.resetNavigationHistory')
  await session.detach()
  return true
}

async function run({ person, tab, method, args }) {
  if (method === 'leave') return leave()
  const known = await contextOf(person, method === 'begin' ? args[0] : {})
  const { context, tabs, complaints, asked } = known
  known.isChanged ||= lasting.has(method)
  if (method === 'begin') return undefined
  if (method === 'cookies') return context.cookies()
  if (method === 'setCookie') return context.addCookies(args)
  if (method === 'forgetCookies') return context.clearCookies()
  if (method === 'asked') return asked
  if (method === 'setOffline') return context.setOffline(...args)
  if (method === 'refuse') return context.route(args[0], (route) => route.abort())
  if (method === 'hold') return context.route(args[0], () => {})
  if (method === 'answer') return context.route(args[0], (route) => route.fulfill(args[1]))
  if (method === 'admit') return context.unroute(args[0])
  if (!tabs.has(tab)) await openTab(known, tab)
  if (method === 'complaints') return complaints.get(tab)
  if (method === 'setSpeed') return setSpeed(context, tabs.get(tab), args[0])
  if (method === 'dropFiles') return dropFiles(context, tabs.get(tab), args)
  if (method === 'drag') return drag(tabs.get(tab), args)
  if (method === 'download') return download(tabs.get(tab), args[0])
  const names = method.split('.'),
    last = names.pop()
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
