import { useEffect, useState } from 'react'
import { useServices } from '../services.ts'
import { useStore } from '../store.ts'
import { useVisible } from '../ui/use-visible.ts'
import { requestsFeed, type RequestsState } from './requests-feed.ts'

/** The requests, live as long as the component is there and the page can be seen. */
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
