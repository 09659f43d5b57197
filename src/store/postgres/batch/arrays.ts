/**
 * Arrays as the server's binary format has them: nothing is quoted here or taken apart there. As JSON, inputs cost the
 * server 0.8 µs a job and this process 0.6.
 */
const HEADER_BYTES = 20
const INT8 = 20
const TEXT = 25
const HIGH = 2 ** 32

/** Safe integers. */
export function bigints(values: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + 12 * values.length)
  let at = header(bytes, INT8, values.length, false)
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i] as number
    at = bytes.writeInt32BE(8, at)
    at = bytes.writeInt32BE(Math.floor(value / HIGH), at)
    at = bytes.writeUInt32BE(value - Math.floor(value / HIGH) * HIGH, at)
  }
  return bytes
}

/** Texts as a binary array; an undefined one is null. */
export function texts(values: readonly (string | undefined)[]): Buffer {
  let size = HEADER_BYTES
  let nulls = false
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i]
    size += 4 + (value === undefined ? 0 : Buffer.byteLength(value))
    nulls ||= value === undefined
  }
  const bytes = Buffer.allocUnsafe(size)
  let at = header(bytes, TEXT, values.length, nulls)
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i]
    const length = value === undefined ? -1 : bytes.write(value, at + 4)
    at = bytes.writeInt32BE(length, at) + Math.max(0, length)
  }
  return bytes
}

/** One dimension that begins with 1, also of an empty array, which the server takes for one without. */
function header(bytes: Buffer, type: number, length: number, nulls: boolean): number {
  bytes.writeInt32BE(1, 0)
  bytes.writeInt32BE(nulls ? 1 : 0, 4)
  bytes.writeInt32BE(type, 8)
  bytes.writeInt32BE(length, 12)
  return bytes.writeInt32BE(1, 16)
}
