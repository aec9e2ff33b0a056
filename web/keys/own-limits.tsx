import { useEffect, useState, type ReactNode } from 'react'
import type { LimitEntry, OwnLimitsAnswer } from '../../src/http/page/page-api.ts'
import { useServices } from '../services.ts'
import { say } from '../texts/say.ts'
import { keptTime } from '../ui/kept-time.ts'
import { limitText } from './limit-text.ts'

/**
 * Whether content of the person's requests is kept, and the limits that name the person, in which their keys count too.
 *
 * @param round a new one asks again
 */
export function OwnLimits({ round }: { readonly round: unknown }): ReactNode {
  const { client } = useServices()
  const [limits, setLimits] = useState<readonly LimitEntry[]>([])
  const [content, setContent] = useState<OwnLimitsAnswer['content']>(null)
  useEffect(() => {
    const leaving = new AbortController()
    client.get<OwnLimitsAnswer>('/v1/key', leaving.signal).then(
      (answer) => {
        setLimits(answer.limits)
        setContent(answer.content)
      },
      // The keys are shown without them; the list of keys tells why the service does not answer.
      () => setLimits([]),
    )
    return () => leaving.abort()
  }, [client, round])
  return (
    <>
      {content === null ? null : (
        <p className="text-sm text-muted">{say.content.isKept(keptTime(content.kept_seconds * 1_000))}</p>
      )}
      {limits.length === 0 ? null : <Limits limits={limits} />}
    </>
  )
}

function Limits({ limits }: { readonly limits: readonly LimitEntry[] }): ReactNode {
  return (
    <section aria-labelledby="own-limits" className="text-sm">
      <h2 id="own-limits" className="font-medium">
        {say.keys.ownLimits}
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
