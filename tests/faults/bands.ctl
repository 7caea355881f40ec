; SPDX-License-Identifier: MIT
; Bands of a square lattice of rods: MIT Photonic Bands' usual first example, its edge in 25 points.
(set! num-bands 8)
(set! k-points (interpolate 15 (list (vector3 0 0 0) (vector3 .5 0 0) (vector3 .5 .5 0) (vector3 0 0 0))))
(set! geometry (list (make cylinder (center 0 0 0) (radius .2) (height infinity) (material (make dielectric (epsilon 12))))))
(set! geometry-lattice (make lattice (size 1 1 no-size)))
(set! resolution 64)
(set! filename-prefix "")
(run-tm)
