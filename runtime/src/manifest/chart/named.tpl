{{- /*
The name of the objects of a release.
*/ -}}
{{- define "$CHART.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains "$CHART" .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-$CHART" .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- /*
The labels of every object.
*/ -}}
{{- define "$CHART.labels" -}}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/name: $CHART
app.kubernetes.io/version: {{ .Chart.AppVersion | replace "+" "_" | trunc 63 | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end -}}

{{- define "$CHART.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "$CHART.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- required "serviceAccount.name is required if serviceAccount.create is false" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "$CHART.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag | replace "+" "_") -}}
{{- end -}}
{{- end -}}

{{- /*
The Lease of leader election: releases in one namespace have Leases of their own.
*/ -}}
{{- define "$CHART.leaseName" -}}
{{- default $LEASE (dig "leaderElection" "leaseName" "" .Values.config) -}}
{{- end -}}

{{- /*
The port of an address such as ":8443"; nothing for the address 0, which stands for no server.
*/ -}}
{{- define "$CHART.port" -}}
{{- $address := toString . -}}
{{- if and $address (ne $address "0") -}}
{{- splitList ":" $address | last -}}
{{- end -}}
{{- end -}}

{{- define "$CHART.metricsPort" -}}
{{- include "$CHART.port" (dig "metrics" "address" "" .Values.config) -}}
{{- end -}}

{{- define "$CHART.probePort" -}}
{{- include "$CHART.port" (dig "probes" "address" ":$PROBE_PORT" .Values.config) -}}
{{- end -}}

{{- define "$CHART.metricsScheme" -}}
{{- if eq (toString (dig "metrics" "secure" true .Values.config)) "false" -}}http{{- else -}}https{{- end -}}
{{- end -}}

{{- /*
The configuration file of the operator.
*/ -}}
{{- define "$CHART.config" -}}
{{- $defaults := dict "leaderElection" (dict "leaseName" (include "$CHART.leaseName" .)) -}}
$NAMESPACES
$WEBHOOKS
{{- $header := dict "apiVersion" "$API_VERSION" "kind" "$KIND" -}}
{{- toYaml (mergeOverwrite $defaults (deepCopy .Values.config) $header) -}}
{{- end -}}

{{- /*
A digest of the options that take effect at the next start, which is all but log.filter. New Pods replace the old ones when it changes.
*/ -}}
{{- define "$CHART.configDigest" -}}
{{- $config := include "$CHART.config" . | fromYaml -}}
{{- $log := omit (default dict $config.log) "filter" -}}
{{- toYaml (list (omit $config "log") $log) | sha256sum -}}
{{- end -}}
