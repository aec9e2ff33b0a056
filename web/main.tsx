import { createRoot } from 'react-dom/client'
import { apiClient } from './api/client.ts'
import { Page, start } from './app/start.tsx'
import { Loading } from './ui/loading.tsx'

/** The page's beginning: everything it needs is made here, and handed down. */

/** What web/first.ts has asked already; good for one answer. */
let early: unknown = Reflect.get(globalThis, 'svcBoot')

const client = apiClient(async (input, init) => {
  const begun = input === '/api/boot' ? early : undefined
  if (!(begun instanceof Promise)) return fetch(input, init)
  early = undefined
  return begun
})
const box = document.querySelector('#root')
const root = box === null ? undefined : createRoot(box)
root?.render(
  <main>
    <Loading />
  </main>,
)
const first = await start(client)
root?.render(<Page client={client} first={first} />)
