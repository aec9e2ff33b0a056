import { useEffect, useState } from 'react'
import { useServices } from '../services.ts'
import { useStore } from '../store.ts'
import { useVisible } from '../ui/use-visible.ts'
import { requestsFeed, type RequestsState } from './requests-feed.ts'

/** Follows the requests while the component is mounted and the page is visible. */
export function useRequests(): RequestsState {
  const { client } = useServices()
  const [feed] = useState(() => requestsFeed({ client }))
  const isVisible = useVisible()
  useEffect(() => {
    if (!isVisible) return undefined
    const controller = new AbortController()
    void feed.follow(controller.signal)
    return () => controller.abort()
  }, [feed, isVisible])
  return useStore(feed.state)
}
