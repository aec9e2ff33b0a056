import { invalidRequest } from '../../formats/error.ts'
import { readBodyBy } from '../../formats/parse-json-object.ts'
import { listShape, objectShape } from '../../shapes/containers.ts'
import { flagShape, textShape } from '../../shapes/shape.ts'
import { readControlBody, type BodyTimes } from '../entrance/read-body.ts'
import type { HandlerContext } from '../handler-context.ts'
import { jsonResponse } from '../json-response.ts'
import type { Route } from '../route.ts'
import { checkEditor, checkEncrypted, type EditorCheck } from './owner-check.ts'
import type { SignInAnswer, SignInChange, SignInDraftAnswer } from './page-api.ts'

const bodyBytesMax = 64 * 1024
const othersMax = 500
/** A value that begins with `$` would be the name of a variable in the file. */
const value = (allowed: string, lengthMax: number) =>
  textShape({ allowed, pattern: /^(?!\$)[\u0021-\u007e](?:[\u0020-\u007e]*[\u0021-\u007e])?$/, lengthMax })
const person = textShape({
  allowed: 'a user name without commas and blanks, or "id:VALUE" for a user id',
  pattern: /^(?!id:$)(?![$@])[^\s,\p{Cc}\p{Cs}]+$/u,
  lengthMax: 256,
})
const changeShape = objectShape(
  {
    provider: value('the id of an identity provider', 64),
    place: value('an address', 2_048),
    clientId: value('a client id: visible characters, no "$" at the beginning', 4_096),
    clientSecret: value('a client secret: visible characters, no "$" at the beginning', 4_096),
    user: person,
    others: listShape(person, { max: othersMax }),
    hasKeys: flagShape,
    origin: textShape({
      allowed: 'the origin of the page, such as https://svc.example.org',
      pattern: /^https?:\/\/[^\s/?#\\@]+$/,
      lengthMax: 512,
    }),
    version: value('the version of the draft', 256),
  },
  { isOpen: true, required: ['provider', 'clientId', 'user', 'others', 'hasKeys', 'origin'] },
)

/** Options of {@link signInApi}. All functions may throw {@link WireError}. */
export interface SignInApiOptions extends EditorCheck {
  readonly state: () => Promise<SignInAnswer>
  readonly draft: (wanted: SignInChange) => Promise<SignInDraftAnswer>
  /** Resolves when people sign in. */
  readonly change: (wanted: SignInChange, user: string | undefined) => Promise<void>
  readonly bodyTimes: BodyTimes
}

/** `/api/sign-in`: owners have people sign in, while no one does yet (docs/sign-in.md). */
export function signInApi(options: SignInApiOptions): readonly Route[] {
  const { state, draft, change, bodyTimes } = options
  const checkMaySetUp = (context: HandlerContext): void => {
    checkEditor(options, context, 'Sign-in is set up', 'providers.json and config.json (docs/sign-in.md)')
    checkEncrypted(context.request, 'write the files (docs/sign-in.md)')
  }

  async function wantedOf({ request }: HandlerContext): Promise<SignInChange> {
    const wanted = readBodyBy(await readControlBody(request, { bytesMax: bodyBytesMax, ...bodyTimes }), changeShape)
    const origin = request.headers.get('origin')
    if (origin === null || origin === wanted.origin) return wanted
    const message = `'origin' must be the address at which this page is open: ${origin}.`
    throw invalidRequest('invalid_value', message, 'origin')
  }

  const routes: readonly Omit<Route, 'isPublic'>[] = [
    {
      method: 'GET',
      path: '/api/sign-in',
      async handle(context) {
        checkMaySetUp(context)
        return jsonResponse(await state(), context.id)
      },
    },
    {
      method: 'POST',
      path: '/api/sign-in/draft',
      body: changeShape,
      async handle(context) {
        checkMaySetUp(context)
        return jsonResponse(await draft(await wantedOf(context)), context.id)
      },
    },
    {
      method: 'POST',
      path: '/api/sign-in',
      body: changeShape,
      async handle(context) {
        checkMaySetUp(context)
        const wanted = await wantedOf(context)
        context.keepOpen()
        try {
          await change(wanted, context.caller.name)
          return jsonResponse({}, context.id)
        } finally {
          context.resetIdleLimit()
        }
      },
    },
  ]
  return routes.map((route) => ({ ...route, isPublic: false }))
}
