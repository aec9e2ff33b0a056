import type {
  AccessCheckAnswer,
  AccessFileAnswer,
  AdmissionAnswer,
  AuditAnswer,
  AuditReport,
  Boot,
  BrandsAnswer,
  ContentAnswer,
  HistoryAnswer,
  HistoryBodies,
  HistoryVersion,
  KeysAnswer,
  LimitDraftAnswer,
  LimitsAnswer,
  LogAnswer,
  LogChoices,
  ModelsAnswer,
  OwnKeysAnswer,
  PeopleAnswer,
  PresetsAnswer,
  ProviderLook,
  ProviderSettings,
  ProvidersAnswer,
  ProviderTest,
  RequestsAnswer,
  RunningAnswer,
  SignInAnswer,
  SignInDraftAnswer,
  UsageAnswer,
} from '../../src/http/page/page-api.ts'
import type { KeyView } from '../../src/people/keys/key-view.ts'
import { answerOf, answerWith } from './members.ts'
import { eventStream, type WordList } from './words.ts'

const key = answerOf<KeyView>({
  ...({ id: 'number', name: 'string', kind: 'string', hint: 'string', state: 'string' } as const),
  ...({ source: 'string', line: 'number', made: 'string or null', made_by: 'string' } as const),
  ...({ expires: 'string or null', ended: 'string or null', ended_by: 'string or null' } as const),
  ...({ last_used: 'string or null', person: 'string or null', team: 'string or null' } as const),
  ...({ models: 'array or null', providers: 'array or null', networks: 'array or null', scopes: 'array' } as const),
})
const madeKey = { ...key, description: 'Its member `key` is the text of the key, which is shown this once.' }

const texts = { type: ['array', 'null'], minItems: 1, maxItems: 100, items: { type: 'string' } }
const wantedKey = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 1 },
    ...{ models: texts, providers: texts, networks: texts, scopes: texts },
    team: { type: ['string', 'null'], minLength: 1, maxLength: 64, description: 'A team of access.json.' },
    days: { type: ['integer', 'null'], minimum: 1 },
  },
  required: ['name'],
  additionalProperties: false,
}
const anyKind = { kind: { enum: ['program', 'management'] } }
const rotation = {
  type: 'object',
  properties: { overlap_days: { type: 'integer', minimum: 0 } },
  additionalProperties: false,
}

/** Words of `/v1/keys` and `/api/keys` (docs/keys.md). */
const keyWords: WordList = {
  'GET /v1/keys': {
    does: 'The keys of programs',
    query: { after: integer('The last key of the page before.'), limit: integer('Most keys: 1 to 1,000.') },
    returns: answerWith({ object: 'string', data: 'array', has_more: 'boolean' }),
  },
  'POST /v1/keys': {
    does: 'Makes a key',
    body: { ...wantedKey, properties: { ...wantedKey.properties, ...anyKind } },
    returns: madeKey,
  },
  'GET /v1/keys/{id}': { does: 'One key', returns: key },
  'DELETE /v1/keys/{id}': { does: 'Ends a key', returns: key },
  'POST /v1/keys/{id}/rotate': { does: 'Replaces a key', body: rotation, mayLackBody: true, returns: madeKey },
  'GET /api/keys': {
    does: 'One’s own keys, or with `team` those of a team',
    query: { team: 'The name of a team.' },
    // Those of a team have no limits of one person.
    returns: answerOf<Pick<OwnKeysAnswer | KeysAnswer, 'data'>>({ data: 'array' }),
  },
  'POST /api/keys': { does: 'Makes a key of one’s own or of a team', body: wantedKey, returns: madeKey },
  'DELETE /api/keys/{id}': { does: 'Ends such a key', returns: key },
  'POST /api/keys/{id}/rotate': { does: 'Replaces a key of a team', body: rotation, returns: madeKey },
}

function integer(description: string) {
  return { type: 'integer', description }
}

const accessFile = answerOf<AccessFileAnswer>({ file: 'string', version: 'string', 'text?': 'string' })
const presets = answerOf<PresetsAnswer>({
  ...({ presets: 'array', 'file?': 'string', 'version?': 'string', 'fault?': 'string' } as const),
})
const providers = answerOf<ProvidersAnswer>({
  ...({ 'version?': 'string', source: 'string', 'file?': 'string', 'keysFile?': 'string' } as const),
  ...({ 'notice?': 'object', 'mayAdd?': 'boolean', providers: 'array' } as const),
})
const version = answerOf<HistoryVersion>({ version: 'number' })
const base = { base: integer('The version that is replaced; 0: none.') }
const csv = { 'text/csv': 'With `Accept: text/csv`.' }

/** Words of the routes below `/api/`, and of the page (docs/contributing/page-api.md). */
export const pageWords: WordList = {
  ...keyWords,
  'GET /': {
    does: 'The page',
    returns: { media: { 'text/html': 'The page.', 'text/plain': 'A line, where `Accept` names no HTML.' } },
  },
  'GET /assets/{name}': { does: 'A file of the page', returns: { media: { '*/*': 'Never changes.' } } },
  'GET /preview': {
    does: 'The document in which HTML of answers is shown',
    returns: { media: { 'text/html': 'Empty.' } },
  },
  'GET /api/boot': {
    does: 'Data that the page needs to start',
    returns: answerOf<Boot>({
      ...({ version: 'string', isClosed: 'boolean', 'user?': 'object', isOwner: 'boolean' } as const),
      ...({ 'hasUsage?': 'boolean', 'contentKeptMs?': 'number', 'hasKeys?': 'boolean' } as const),
      ...({ 'hasLimits?': 'boolean', 'hasPeople?': 'boolean', 'titleModel?': 'string' } as const),
      ...({ 'hasHistory?': 'boolean', 'teams?': 'array', parts: 'array' } as const),
    }),
  },
  'POST /api/chat': {
    does: 'As `POST /v1/chat/completions`; the answer goes on without its reader',
    headers: { 'x-svc-answer': { type: 'string', pattern: '^[A-Za-z0-9_-]{16,64}$', description: 'Its id.' } },
    body: { $ref: '#/components/schemas/chat' },
    returns: { type: 'object' },
    also: { [eventStream]: 'With `"stream": true`.' },
  },
  'GET /api/answers/{id}': {
    does: 'Such an answer from its first byte',
    query: { from: integer('Bytes that are left out.') },
    returns: { media: { '*/*': 'As it was first sent.' } },
  },
  'DELETE /api/answers/{id}': { does: 'Stops such an answer', status: 204, returns: { media: {} } },
  'GET /api/models': {
    does: 'Every model with its providers',
    returns: answerOf<ModelsAnswer>({
      ...({ models: 'array', 'firstModel?': 'string', isEchoOnly: 'boolean' } as const),
      ...({ 'file?': 'string', 'notice?': 'object' } as const),
    }),
  },
  'GET /api/providers': { does: 'The try-order, and the state of each provider', returns: providers },
  'POST /api/providers': { does: 'One change of the providers', returns: providers },
  'POST /api/providers/test': {
    does: 'Requests one token from one provider',
    returns: answerOf<ProviderTest>({
      ...({ ok: 'boolean', ms: 'number', 'model?': 'string', 'status?': 'number' } as const),
      ...({ 'failure?': 'string', 'detail?': 'string', 'lacks?': 'array' } as const),
    }),
  },
  'GET /api/providers/brands': {
    does: 'The known brands',
    returns: answerOf<BrandsAnswer>({ brands: 'array', 'keysFile?': 'string', defaultTimeouts: 'object' }),
  },
  'POST /api/providers/look': {
    does: 'Asks a provider, as it would be, for its models',
    returns: answerOf<ProviderLook>({
      ...({ ms: 'number', 'models?': 'array', 'modelCount?': 'number', 'pricedCount?': 'number' } as const),
      ...({ 'lacks?': 'array', 'detail?': 'string', 'status?': 'number' } as const),
    }),
  },
  'GET /api/providers/settings': {
    does: 'What the file has of one provider',
    query: { id: 'Of the provider.' },
    needs: ['id'],
    returns: answerOf<ProviderSettings>({
      ...({ version: 'string', id: 'string', 'brand?': 'string', 'baseUrl?': 'string', key: 'object' } as const),
      ...({ 'keysFile?': 'string', variables: 'array', 'models?': 'array' } as const),
      ...({ 'hasModelFacts?': 'boolean', timeouts: 'object', defaultTimeouts: 'object' } as const),
    }),
  },
  'GET /api/presets': { does: 'The shared presets', returns: presets },
  'POST /api/presets': { does: 'Writes or removes one preset', returns: presets },
  'GET /api/limits': {
    does: 'Every limit of access.json with its use',
    returns: answerOf<LimitsAnswer>({
      ...({ 'file?': 'string', 'fault?': 'object', timeZone: 'string', limits: 'array' } as const),
      ...({ teams: 'array', 'mayEdit?': 'boolean', named: 'array' } as const),
    }),
  },
  'GET /api/limits/file': { does: 'The text of access.json', returns: accessFile },
  'POST /api/limits/file': { does: 'Replaces access.json', returns: accessFile },
  'POST /api/limits/check': {
    does: 'The faults of a text',
    returns: answerOf<AccessCheckAnswer>({ faults: 'array' }),
  },
  'POST /api/limits/draft': {
    does: 'The text with one limit more, changed or less',
    returns: answerOf<LimitDraftAnswer>({
      ...({ base: 'object', 'entry?': 'object', text: 'string', faults: 'array', 'effect?': 'object' } as const),
    }),
  },
  'POST /api/program-keys': { does: 'Makes a key of a program with its limit', returns: madeKey },
  'GET /api/sign-in': {
    does: 'The identity providers to choose from',
    returns: answerOf<SignInAnswer>({
      ...({ file: 'string', providers: 'array', callbackPath: 'string', mayAddKeys: 'boolean' } as const),
      'isOffByFlag?': 'boolean',
    }),
  },
  'POST /api/sign-in/draft': {
    does: 'What a set-up of sign-in would write',
    returns: answerOf<SignInDraftAnswer>({ version: 'string', files: 'array', faults: 'array' }),
  },
  'POST /api/sign-in': { does: 'Switches sign-in on', returns: { type: 'object' } },
  'GET /api/people': {
    does: 'Who is signed in',
    returns: answerOf<PeopleAnswer>({ provider: 'string', people: 'array', refused: 'array', hasList: 'boolean' }),
  },
  'POST /api/people/end': { does: 'Ends sessions', returns: answerWith({ ended: 'number' }) },
  'POST /api/people/admission': {
    does: 'Changes who may sign in',
    returns: answerOf<AdmissionAnswer>({
      ...({ file: 'string', version: 'string', line: 'number', before: 'string', after: 'string' } as const),
    }),
  },
  'GET /api/history': {
    does: 'One’s conversations that changed',
    query: { after: integer('The number of a change.'), whole: '`1`: all that there are.' },
    returns: answerOf<HistoryAnswer>({
      ...({ 'days?': 'number', database: 'string', person: 'number', last: 'number' } as const),
      ...({ isTooOld: 'boolean', isCut: 'boolean', entries: 'array' } as const),
    }),
  },
  'DELETE /api/history': {
    does: 'Removes conversations',
    query: { until: integer('The number of the last change that is removed.') },
    needs: ['until'],
    returns: { type: 'object' },
  },
  'POST /api/history/read': {
    does: 'Some conversations',
    returns: answerOf<HistoryBodies>({ conversations: 'array' }),
  },
  'POST /api/history/conversations/{id}': {
    does: 'Stores one',
    query: base,
    body: { type: 'object' },
    returns: version,
  },
  'DELETE /api/history/conversations/{id}': { does: 'Removes one', query: base, returns: version },
  'GET /api/audit': {
    does: 'Recorded changes',
    query: { limit: integer('Most entries.'), before: integer('`seq` of the last entry of the page before.') },
    returns: answerOf<AuditAnswer>({ entries: 'array', hasMore: 'boolean' }),
  },
  'GET /api/audit/verify': {
    does: 'Whether recorded changes are as they were written',
    returns: answerOf<AuditReport>({ entries: 'number', 'newest?': 'object', faults: 'array' }),
  },
  'GET /api/usage': {
    does: 'What was used and what it cost',
    note: 'Parameters: docs/ledger.md.',
    also: csv,
    returns: answerOf<UsageAnswer>({
      ...({ unit: 'string', by: 'string', timeZone: 'string', 'writtenAt?': 'number', 'isCut?': 'boolean' } as const),
      ...({ rows: 'array', 'times?': 'array', 'groups?': 'array', 'failures?': 'array' } as const),
    }),
  },
  'GET /api/log': {
    does: 'Requests of the last 30 days',
    note: 'Filters: docs/ledger.md.',
    also: csv,
    returns: answerOf<LogAnswer>({ requests: 'array', 'next?': 'string', 'searchedTo?': 'number' }),
  },
  'GET /api/log/choices': {
    does: 'Values of the filters',
    returns: answerOf<LogChoices>({
      ...({ models: 'array', providers: 'array', errors: 'array', apis: 'array', people: 'array' } as const),
      ...({ keys: 'array', 'oldest?': 'number' } as const),
    }),
  },
  'GET /api/requests': {
    does: 'The last requests, and sums by the minute',
    returns: answerOf<RequestsAnswer>({ requests: 'array', minutes: 'array' }),
    also: { [eventStream]: 'With `Accept: text/event-stream`: the first event has all, others what changed.' },
  },
  'GET /api/running': {
    does: 'The requests under way',
    query: { id: 'Those with this `x-request-id`.' },
    returns: answerOf<RunningAnswer>({ count: 'number', requests: 'array' }),
  },
  'GET /api/requests/{id}': { does: 'One request', returns: { type: 'object' } },
  'GET /api/requests/{id}/content': {
    does: 'The question and the answer of a request, if they are kept',
    query: { time: integer('When it arrived.') },
    returns: answerOf<ContentAnswer>({
      ...({ time: 'number', expires: 'number', question: 'string', answer: 'string' } as const),
      ...({ 'isQuestionCut?': 'boolean', 'isAnswerCut?': 'boolean' } as const),
    }),
  },
}
