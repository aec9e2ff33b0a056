import { useEffect, useState } from 'react'
import type { LogChoices } from '../../src/http/page/page-api.ts'
import { useServices } from '../services.ts'

/** Names for the filters of stored requests; `undefined` until they are known, and where no requests are kept. */
export function useLogChoices(): LogChoices | undefined {
  const {
    client,
    boot: { hasUsage },
  } = useServices()
  const [choices, setChoices] = useState<LogChoices>()
  useEffect(() => {
    if (hasUsage !== true) return undefined
    const leaving = new AbortController()
    client.get<LogChoices>('/api/log/choices', leaving.signal).then(setChoices, () => {
      // The filters offer what the list has.
    })
    return () => leaving.abort()
  }, [client, hasUsage])
  return choices
}
