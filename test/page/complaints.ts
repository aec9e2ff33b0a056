import type { Tab } from '../fakes/chromium.ts'

/** Console error of Chromium for a failed request: a status such as 401, or a stopped service. */
const failedRequest = /^Failed to load resource: (?:the server responded with a status of|net::ERR_(?!BLOCKED_BY_CSP))/

/**
 * Errors in a tab's console, with violations of the Content-Security-Policy, and dialogs of scripts. Failed requests
 * are left out, because tests cause them.
 */
export async function complaintsOf(tab: Tab): Promise<readonly string[]> {
  return (await tab.complaints()).filter((complaint) => !failedRequest.test(complaint))
}
