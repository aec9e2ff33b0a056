const lengthMax = 128

/** A name or an id as the database has it: at most 128 characters. */
export function shortened(name: string): string {
  return name.length <= lengthMax ? name : name.slice(0, lengthMax).toWellFormed()
}
