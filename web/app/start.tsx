import { useState, type ReactNode } from 'react'
import type { Boot } from '../../src/http/page/page-api.ts'
import { ApiError, Unreachable, type ApiClient } from '../api/client.ts'
import type { HistoryParts, SyncedHistory } from '../history/server/open-synced-history.tsx'
import { messageOf } from '../message-of.ts'
import { modelsStore } from '../models/models-store.ts'
import { ServicesContext, type Services } from '../services.ts'
import { say } from '../texts/say.ts'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'
import { ErrorBoundary } from './error-boundary.tsx'
import { loadParts, type Parts } from './parts.ts'
import { Shell } from './shell.tsx'
import { SignInPage } from './sign-in.tsx'

/** Outcome of {@link start}. */
export type Start =
  | { readonly kind: 'signed-out'; readonly parts: Parts }
  | { readonly kind: 'ready'; readonly parts: Parts; readonly services: Services }
  | { readonly kind: 'failed'; readonly error: unknown }

/** Requests the boot data, and loads page parts, models and history. Never rejects. */
export async function start(client: ApiClient): Promise<Start> {
  try {
    const boot = await client.get<Boot>('/api/boot')
    rememberBoot(boot)
    return await startWith(boot, client, false)
  } catch (error) {
    const boot = error instanceof Unreachable ? rememberedBoot() : undefined
    return boot === undefined
      ? { kind: 'failed', error }
      : await startWith(boot, client, true).catch((reason: unknown) => ({ kind: 'failed', error: reason }))
  }
}

async function startWith(boot: Boot, client: ApiClient, isOffline: boolean): Promise<Start> {
  const parts = await loadParts(boot.parts)
  if (boot.isClosed && boot.user === undefined) return { kind: 'signed-out', parts }
  // Preloaded, and not in the first script: what is painted first needs none of it.
  const { openHistory, localHistory, historyStore, openDB } = await import('../history/open-history.ts')
  const models = modelsStore(client)
  void models.refresh()
  const userId = boot.user?.id ?? 'anonymous'
  const synced =
    boot.hasHistory === true ? await openSynced(userId, client, { localHistory, historyStore, openDB }) : undefined
  const services = {
    ...{ boot, client, models, isOffline },
    ...(synced === undefined ? { history: await openHistory(userId) } : { synced, history: synced.history }),
    // User ids have no slash.
    openHistory: (name: string) => openHistory(`${userId}/${name}`),
  }
  return { kind: 'ready', parts, services }
}

/** Without its part of the page, an installed page shows the copy in this browser. */
async function openSynced(userId: string, client: ApiClient, page: HistoryParts): Promise<SyncedHistory | undefined> {
  const part = await import('../history/server/open-synced-history.tsx').catch(() => undefined)
  return await part?.openSyncedHistory(userId, client, page)
}

/** The page: sign-in, a failure, or the shell. */
export function Page({ client, first }: { readonly client: ApiClient; readonly first: Start }): ReactNode {
  const [current, setCurrent] = useState(first)

  async function enterToken(token: string): Promise<boolean> {
    client.enterToken(token)
    try {
      const { isClosed, user } = await client.get<Boot>('/api/boot')
      const isAccepted = !isClosed || user !== undefined
      if (!isAccepted) client.enterToken(undefined)
      // The same user signed in again: the open view keeps its state.
      else if (current.kind !== 'ready' || current.services.boot.user?.id !== user?.id) setCurrent(await start(client))
      return isAccepted
    } catch (error) {
      client.enterToken(undefined)
      throw error
    }
  }

  switch (current.kind) {
    case 'signed-out':
      return <SignInPage parts={current.parts} enterToken={enterToken} />
    case 'failed':
      return (
        <PageFailed
          title={current.error instanceof ApiError ? say.app.cannotServe : say.common.cannotBeReached}
          error={current.error}
        />
      )
    case 'ready':
      return (
        <ErrorBoundary fallback={(error) => <PageFailed title={say.app.pageFailed} error={error} />}>
          <ServicesContext value={current.services}>
            <Shell parts={current.parts} enterToken={enterToken} />
          </ServicesContext>
        </ErrorBoundary>
      )
  }
}

function PageFailed({ title, error }: { readonly title: string; readonly error: unknown }): ReactNode {
  return (
    <main className="mx-auto max-w-xl p-6 pt-[15vh]">
      <Notice
        kind="error"
        title={title}
        actions={
          <Button variant="primary" onClick={() => location.reload()}>
            {say.common.tryAgain}
          </Button>
        }
      >
        {messageOf(error)}
      </Notice>
    </main>
  )
}

const key = 'svc-boot'

/** Remembers the boot data of an installed page, to show stored conversations without the service. */
function rememberBoot(boot: Boot): void {
  try {
    if (navigator.serviceWorker?.controller && (!boot.isClosed || boot.user !== undefined))
      localStorage.setItem(key, JSON.stringify(boot))
    else localStorage.removeItem(key)
  } catch {
    // Storage is forbidden or full: the page needs the service.
  }
}

/** The boot data of the last visit, if there are any. They were written by this page, and are not checked. */
function rememberedBoot(): Boot | undefined {
  try {
    return (JSON.parse(localStorage.getItem(key) ?? 'null') as Boot | null) ?? undefined
  } catch {
    return undefined
  }
}
