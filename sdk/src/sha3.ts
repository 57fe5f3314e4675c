/**
 * SHA3-256 (FIPS 202), and HMAC with it (FIPS 198-1). Neither WebCrypto nor any browser has SHA-3. A lane of 64 bits is kept as two halves
 * of 32 bits, low half first, because numbers are a hundred times faster than BigInt.
 */

const ROUNDS = 24;
/** The number of bytes absorbed between two permutations; also the block size of HMAC. */
const RATE_BYTES = 136;
const DIGEST_BYTES = 32;
const LANES = 25;

/** Scratch space of `permute`, which is never re-entered. */
const scratch = new Int32Array(10);
/** The constants of iota, the rotations of rho and the places of pi, computed as FIPS 202, 3.2 defines them. */
const { constants, rotations, places } = makeTables();

function makeTables(): { constants: Int32Array; rotations: Uint8Array; places: Uint8Array } {
  const made = {
    constants: new Int32Array(2 * ROUNDS),
    rotations: new Uint8Array(ROUNDS),
    places: new Uint8Array(ROUNDS),
  };
  let [x, y, register] = [1, 0, 1];
  for (let round = 0; round < ROUNDS; round += 1) {
    [x, y] = [y, (2 * x + 3 * y) % 5];
    made.places[round] = 5 * y + x;
    made.rotations[round] = (((round + 1) * (round + 2)) / 2) % 64;
    for (let j = 0; j < 7; j += 1) {
      const bit = 2 ** j - 1;
      if (register & 1) made.constants[2 * round + (bit >> 5)]! |= 1 << (bit & 31);
      register = (register << 1) ^ (register & 0x80 ? 0x171 : 0);
    }
  }
  return made;
}

/**
 * Keccak-f[1600] (FIPS 202, 3.3). It is one long function that allocates nothing, because a signature spends nearly all its time here.
 * @param state 25 lanes, changed in place
 */
function permute(state: Int32Array): void {
  for (let round = 0; round < ROUNDS; round += 1) {
    // Theta
    for (let x = 0; x < 10; x += 1)
      scratch[x] = state[x]! ^ state[x + 10]! ^ state[x + 20]! ^ state[x + 30]! ^ state[x + 40]!;
    for (let x = 0; x < 10; x += 2) {
      const before = (x + 8) % 10;
      const after = (x + 2) % 10;
      const low = scratch[before]! ^ rotatedLow(scratch[after]!, scratch[after + 1]!, 1);
      const high = scratch[before + 1]! ^ rotatedLow(scratch[after + 1]!, scratch[after]!, 1);
      for (let y = x; y < 2 * LANES; y += 10) {
        state[y]! ^= low;
        state[y + 1]! ^= high;
      }
    }
    // Rho and pi
    let low = state[2]!;
    let high = state[3]!;
    for (let t = 0; t < ROUNDS; t += 1) {
      const place = 2 * places[t]!;
      const bits = rotations[t]!;
      const nextLow = state[place]!;
      const nextHigh = state[place + 1]!;
      state[place] = rotatedLow(low, high, bits);
      state[place + 1] = rotatedLow(high, low, bits);
      low = nextLow;
      high = nextHigh;
    }
    // Chi
    for (let y = 0; y < 2 * LANES; y += 10) {
      for (let x = 0; x < 10; x += 1) scratch[x] = state[y + x]!;
      for (let x = 0; x < 10; x += 1) state[y + x] = scratch[x]! ^ (~scratch[(x + 2) % 10]! & scratch[(x + 4) % 10]!);
    }
    // Iota
    state[0]! ^= constants[2 * round]!;
    state[1]! ^= constants[2 * round + 1]!;
  }
}

/** The low half of a lane rotated to the left. With the halves swapped, it gives the high half. */
function rotatedLow(low: number, high: number, bits: number): number {
  if (bits >= 32) return rotatedLow(high, low, bits - 32);
  return bits === 0 ? low : (low << bits) | (high >>> (32 - bits));
}

/** @returns the 32 bytes of SHA3-256 over the concatenated parts */
export function sha3(...parts: Uint8Array[]): Uint8Array {
  const state = new Int32Array(2 * LANES);
  let filled = 0;
  for (const part of parts) {
    for (let i = 0; i < part.length; i += 1) {
      state[filled >> 2]! ^= part[i]! << (8 * (filled & 3));
      filled += 1;
      if (filled < RATE_BYTES) continue;
      permute(state);
      filled = 0;
    }
  }
  state[filled >> 2]! ^= 0x06 << (8 * (filled & 3));
  state[(RATE_BYTES - 1) >> 2]! ^= 0x80 << 24;
  permute(state);
  return Uint8Array.from({ length: DIGEST_BYTES }, (_, i) => state[i >> 2]! >>> (8 * (i & 3)));
}

/** HMAC-SHA3-256 over the concatenated parts. @param key of any length */
export function hmacSha3(key: Uint8Array, ...parts: Uint8Array[]): Uint8Array {
  const block = new Uint8Array(RATE_BYTES);
  block.set(key.length > RATE_BYTES ? sha3(key) : key);
  const inner = sha3(
    block.map((byte) => byte ^ 0x36),
    ...parts,
  );
  return sha3(
    block.map((byte) => byte ^ 0x5c),
    inner,
  );
}
