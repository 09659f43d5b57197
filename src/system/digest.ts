import { hash } from 'node:crypto'

/** 256 bits as 64 hexadecimal digits. Nobody finds another text with the same. */
export const sha256 = (text: string): string => hash('sha256', text)
