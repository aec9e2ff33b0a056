import { createRoot } from 'react-dom/client'
import { apiClient } from '../api/client.ts'
import { keepOfflineWhenInstalled } from '../install/install.ts'
import { Loading } from '../ui/loading.tsx'
import { refuseDrops } from '../ui/refuse-drops.ts'
import { Page, start } from './start.tsx'

/**
 * Opens the page: creates the services and renders. Everything that this file imports is in the first script, and every
 * part that loads later shares it (scripts/build-web.ts).
 */
export async function openPage(): Promise<void> {
  /** The response that web/first.ts requested. Used once. */
  let bootResponse: unknown = Reflect.get(globalThis, 'svcBoot')

  const client = apiClient(async (input, init) => {
    const response = input === '/api/boot' ? bootResponse : undefined
    if (!(response instanceof Promise)) return fetch(input, init)
    bootResponse = undefined
    return response as Promise<Response>
  })
  refuseDrops(window)
  const box = document.querySelector('#root')
  const root = box === null ? undefined : createRoot(box)
  root?.render(
    <main>
      <Loading />
    </main>,
  )
  const first = await start(client)
  root?.render(<Page client={client} first={first} />)
  keepOfflineWhenInstalled()
}
