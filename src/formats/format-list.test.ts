import { describe } from 'bun:test'
import { formats } from './format-list.ts'
import { formatContract } from './format-testing.ts'
import { formatSamples } from './sample-testing.ts'

describe.each(Object.values(formats).map((format) => [format.name, format] as const))(
  'the format %s',
  (name, format) => {
    formatContract(format, formatSamples[name])
  },
)
