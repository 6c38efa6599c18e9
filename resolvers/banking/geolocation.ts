// Where a request was made, as its header tells: longitude, latitude, altitude, radius, country.
import type { Context } from '../kernel/context.ts'

const HEADER =
  /^(-?\d{1,3}(?:\.\d+)?) (-?\d{1,2}(?:\.\d+)?) (-?\d+(?:\.\d+)?) (\d{1,9})(?:\.\d+)? (\w{2,3})$/

export interface Geolocation {
  readonly latitude: string
  readonly longitude: string
  readonly altitude: string
  readonly radius: number
}

/** Undefined where the header is missing, of another form, or says that nothing is known. */
export function readGeolocation({ headers }: Context): Geolocation | undefined {
  const sent = headers['x-vendor-geolocation']
  if (sent === undefined || sent.startsWith('0 0 0 0')) return undefined
  const [, longitude, latitude, altitude, radius] = HEADER.exec(sent) ?? []
  if (longitude === undefined) return undefined
  return { latitude: latitude!, longitude, altitude: altitude!, radius: Number(radius) }
}
