import { openPage } from './app/open-page.tsx'

/** Entry point of the page. */
await openPage()
