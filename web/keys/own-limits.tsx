import { useEffect, useState, type ReactNode } from 'react'
import type { LimitEntry, OwnLimitsAnswer } from '../../src/http/page/page-api.ts'
import { useServices } from '../services.ts'
import { limitText } from './limit-text.ts'

/**
 * The limits that name the person, in which their keys count too. Nothing without limits. @param round a new one asks
 * again
 */
export function OwnLimits({ round }: { readonly round: unknown }): ReactNode {
  const { client } = useServices()
  const [limits, setLimits] = useState<readonly LimitEntry[]>([])
  useEffect(() => {
    const leaving = new AbortController()
    client.get<OwnLimitsAnswer>('/v1/key', leaving.signal).then(
      (answer) => setLimits(answer.limits),
      // The keys are shown without them; the list of keys tells why the service does not answer.
      () => setLimits([]),
    )
    return () => leaving.abort()
  }, [client, round])
  if (limits.length === 0) return null
  return (
    <section aria-labelledby="own-limits" className="text-sm">
      <h2 id="own-limits" className="font-medium">
        What you and your keys have left
      </h2>
      <ul className="text-muted tabular-nums">
        {limits.map((limit, index) => (
          <li key={index} className="[overflow-wrap:anywhere]">
            {limitText(limit)}
          </li>
        ))}
      </ul>
    </section>
  )
}
