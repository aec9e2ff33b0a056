import type { PageFiles } from '../../http/page/page-files.ts'

/** The page embedded in this program: none. The build of the executable replaces this file. */
export const embeddedPage: PageFiles | undefined = undefined
