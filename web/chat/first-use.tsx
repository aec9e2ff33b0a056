import type { ReactNode } from 'react'
import { hrefOf } from '../app/route.ts'
import { say } from '../texts/say.ts'
import { ButtonLink } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'

export interface FirstUseProps {
  /** Path of providers.json; absent if the user may not change it. */
  readonly file: string | undefined
}

/** Help to add the first provider, shown while only the built-in echo answers. */
export function FirstUse({ file }: FirstUseProps): ReactNode {
  return (
    <Notice kind="info" title={say.chat.echo}>
      {file === undefined ? (
        <p>{say.chat.echoNoOwner}</p>
      ) : (
        <>
          <p>{say.chat.echoAdd}</p>
          <ButtonLink variant="primary" className="mt-2" href={hrefOf({ view: 'providers', id: 'add' })}>
            {say.chat.echoAddIt}
          </ButtonLink>
        </>
      )}
    </Notice>
  )
}
