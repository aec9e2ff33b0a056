import type { Notices } from './store.ts'

/** {@link Notices} where nobody else is there to tell or to hear. */
export const noNotices: Notices = { tell() {}, listen() {} }
