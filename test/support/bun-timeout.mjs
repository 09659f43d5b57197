// Plain JavaScript: bun's own module has no types here. Properties are tried many times, on machines that do other things.
import { setDefaultTimeout } from 'bun:test'

setDefaultTimeout(60_000)
