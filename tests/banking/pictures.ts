// Pictures for tests, made when they are needed.
import sharp from 'sharp'

export interface Picture {
  readonly width: number
  readonly height: number
  readonly format?: 'png' | 'jpeg' | 'gif'
}

export const picture = ({ width, height, format = 'png' }: Picture): Promise<Buffer> =>
  sharp({ create: { width, height, channels: 3, background: '#0a6b4b' } })
    .toFormat(format)
    .toBuffer()

/** The headers of an upload. */
export const upload = (type: string, description = 'A picture') => ({
  headers: { 'content-type': type, 'x-vendor-attachment-description': description },
})

export const sizeOf = async (bytes: Buffer) => {
  const { width, height, format } = await sharp(bytes).metadata()
  return { width, height, format }
}
