/** The address of the service, as the argument of the program. */
export const url = process.argv[2]

export const schema = {
  type: 'object',
  properties: { population_of_matrix: { type: 'integer' } },
  required: ['population_of_matrix'],
  additionalProperties: false,
}

export const weather = {
  name: 'weather',
  description: 'Tells the weather.',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false },
}

export const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const scenarioMs = 20_000

/**
 * Runs each scenario and prints a line of JSON: what it returned, or its error. A scenario gets the model to ask, and
 * the text of the question, which tells the provider what to answer.
 */
export async function runScenarios(scenarios) {
  for (const [name, run] of Object.entries(scenarios)) {
    const question = `[[${name}]]`
    let timer
    const isLate = new Promise((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`no end after ${scenarioMs} ms`)), scenarioMs)
    })
    try {
      const seen = await Promise.race([run({ model: name, question }), isLate])
      console.log(JSON.stringify({ name, seen }))
    } catch (error) {
      const { message, status, statusCode, constructor } = error ?? {}
      const failed = {
        message: String(message ?? error).slice(0, 300),
        kind: constructor?.name,
        status: status ?? statusCode,
      }
      console.log(JSON.stringify({ name, failed }))
    } finally {
      clearTimeout(timer)
    }
  }
  // Some libraries keep connections that would delay the end.
  process.exit(0)
}

/** Notes the cities that a tool was called for, and tells their weather. */
export function weatherTeller() {
  const ran = []
  return {
    ran,
    tell({ city }) {
      ran.push(city)
      return `${city === 'Rome' ? 20 : 21} degrees`
    },
  }
}
