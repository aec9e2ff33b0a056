import { createRoot } from 'react-dom/client'
import { apiClient } from './api/client.ts'
import { Page, start } from './app/start.tsx'

/** The page's beginning: everything it needs is made here, and handed down. */

const client = apiClient()
const root = document.querySelector('#root')
const first = await start(client)
if (root !== null) createRoot(root).render(<Page client={client} first={first} />)
