import { useEffect } from 'react'
import type { ApiClient } from '../api/client.ts'
import { useServices } from '../services.ts'
import { useStore } from '../store.ts'
import { useVisible } from '../ui/use-visible.ts'
import { ProvidersFeed, type ProvidersState } from './providers-feed.ts'

/** One per client, so that all views show the same answer. */
const feeds = new WeakMap<ApiClient, ProvidersFeed>()

/** Returns the page's feed of providers. */
export function feedOf(client: ApiClient): ProvidersFeed {
  const feed = feeds.get(client) ?? new ProvidersFeed(client)
  feeds.set(client, feed)
  return feed
}

/** Asks for the providers now, every `refreshMs` while the page is visible, and when it becomes so. */
export function useProviders(refreshMs: number): ProvidersState {
  const feed = feedOf(useServices().client)
  const isVisible = useVisible()
  useEffect(() => {
    if (!isVisible) return undefined
    void feed.refresh()
    const timer = setInterval(() => void feed.refresh(), refreshMs)
    return () => clearInterval(timer)
  }, [feed, refreshMs, isVisible])
  return useStore(feed.state)
}
