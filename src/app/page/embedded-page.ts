import type { PageFiles } from '../../http/page/page-files.ts'

/** Loads the page embedded in this program. There is none: the build of the executable replaces this file. */
export const embeddedPage: (() => Promise<PageFiles>) | undefined = undefined
