// What every command begins with: the configuration of its environment, or a reason to end.
import { BadConfiguration, readConfiguration, type Configuration } from './configuration.ts'
import { SERVICES } from './services.ts'

export function configurationOrExit(): Configuration {
  try {
    return readConfiguration(process.env, Object.keys(SERVICES))
  } catch (error) {
    return exitIfBad(error)
  }
}

/** Ends with a line for each setting that is wrong. Throws whatever else it is. */
export function exitIfBad(error: unknown): never {
  if (!(error instanceof BadConfiguration)) throw error
  return exit(`Polygraph does not start: the configuration is wrong.\n${error.message}`)
}

export function exit(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}
