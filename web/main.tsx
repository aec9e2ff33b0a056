import { createRoot } from 'react-dom/client'
import { apiClient } from './api/client.ts'
import { Page, start } from './app/start.tsx'

/** The page's beginning: everything it needs is made here, and handed down. */

/** What web/first.ts has asked already; good for one answer. */
let early: unknown = Reflect.get(globalThis, 'svcBoot')

const client = apiClient(async (input, init) => {
  const begun = input === '/api/boot' ? early : undefined
  if (!(begun instanceof Promise)) return fetch(input, init)
  early = undefined
  return begun
})
const root = document.querySelector('#root')
const first = await start(client)
if (root !== null) createRoot(root).render(<Page client={client} first={first} />)
